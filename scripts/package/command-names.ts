/** The programs in `bin` of a package. */
export const commandNames = [
  "server",
  "migrate",
  "key",
  "catalog-import",
  "doctor",
  "backup",
  "restore",
] as const;

export type CommandName = (typeof commandNames)[number];
