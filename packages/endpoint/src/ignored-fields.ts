/** The response header that names the fields of a request that had no effect. */

export const IGNORED_FIELDS = "x-ignored-fields";

const MAX_FIELDS = 20;
const MAX_NAME_CHARS = 64;
const MAX_HEADER_CHARS = 1_000;

/**
 * Returns the value of the header: the names separated by commas, and percent-encoded, because a name can
 * be any text. Names are cut after 64 characters, and the list after 20 names or 1,000 characters.
 */
export function listFields(names: readonly string[]): string {
  let list = "";
  for (const name of names.slice(0, MAX_FIELDS)) {
    // A cut can separate a surrogate pair, which cannot be encoded.
    const encoded = encodeURIComponent(name.slice(0, MAX_NAME_CHARS).toWellFormed());
    const longer = list === "" ? encoded : `${list}, ${encoded}`;
    if (longer.length > MAX_HEADER_CHARS) break;
    list = longer;
  }
  return list;
}
