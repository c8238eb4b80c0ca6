/** File systems take names of at most 255 bytes. The rest is for a number, or for the ending of a related file. */
const MAX_NAME_BYTES = 240;

/**
 * Returns the start of a name, cut between two characters.
 * @param limits.characters the maximum of Unicode code points
 * @param limits.bytes the maximum in UTF-8. Default: 240, with which the name has room for a number
 */
export function cutName(
  name: string,
  { characters, bytes = MAX_NAME_BYTES }: { readonly characters: number; readonly bytes?: number },
): string {
  let cut = "";
  let left = characters;
  let room = bytes;
  for (const character of name.toWellFormed()) {
    room -= Buffer.byteLength(character);
    if (left-- <= 0 || room < 0) break;
    cut += character;
  }
  return cut;
}
