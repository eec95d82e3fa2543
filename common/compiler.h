/*
 * compiler.h - what the compiler is told beyond C11.
 */
#ifndef COMMON_COMPILER_H
#define COMMON_COMPILER_H

/* Check arguments from number `args` against the format, number `format`. */
#define PRINTF_LIKE(format_at, args_at) \
	__attribute__((format(printf, format_at, args_at)))

#endif
