/*
 * pg_exposure.h - what others on the network can do to a connection.
 */
#ifndef COMMON_PG_EXPOSURE_H
#define COMMON_PG_EXPOSURE_H

struct pg_conn; /* libpq's PGconn */

/* As pg_exposure() of pg.h. */
char *pg_exposure_of(const struct pg_conn *conn);

#endif
