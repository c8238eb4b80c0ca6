/** At most `most` characters, cut between them: half of a surrogate pair is no text. */
export function cutOutput(text: string, most: number): string {
  if (text.length <= most) return text;
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most);
}
