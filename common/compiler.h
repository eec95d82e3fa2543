/* compiler.h - hints for the compiler that C11 does not have. */
#ifndef COMMON_COMPILER_H
#define COMMON_COMPILER_H

/* Check arguments from number `args` against the format, number `format`. */
#define PRINTF_LIKE(format_at, args_at) \
	__attribute__((format(printf, format_at, args_at)))

#endif
