/** Returns the URL of the embedded PostgreSQL. */
export const postgresUrl = (password: string, port: number): string =>
  `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
