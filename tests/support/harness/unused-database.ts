import type { Database } from "../../../lib/platform/database/port.ts";

/** For code that takes a database and does not call it in the test. */
export const unusedDatabase: Database = {
  call: (name) => Promise.reject(new Error(`${name} is called`)),
  close: async () => {},
};
