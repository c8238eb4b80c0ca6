/** Origins of the servers of this test file: the shared one, and those it starts. */
export const servers = new Set<string>();
