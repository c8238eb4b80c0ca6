/** The embedded model's consolidation of a memory: it drops repeated entries, and judges nothing else. */
const DATE = /\b\d{4}-\d\d-\d\d\b/;

/**
 * Returns the lines without repeated ones, which are compared without marks, case and their date. Of dated
 * lines the newest stays where it is, of others the first. Headings and empty lines stay, but no two empty ones.
 */
export function condenseMemory(memory: string): string {
  const lines = memory.split("\n").map((line) => line.trimEnd());
  const kept = new Map<string, { readonly index: number; readonly date: string }>();
  for (const [index, line] of lines.entries()) {
    const fact = factOf(line);
    if (fact === "") continue;
    const date = DATE.exec(line)?.[0] ?? "";
    const known = kept.get(fact);
    if (known === undefined || date > known.date) kept.set(fact, { index, date });
  }
  return lines
    .filter((line, index) => {
      const fact = factOf(line);
      if (fact === "") return line !== "" || lines[index - 1] !== "";
      return kept.get(fact)?.index === index;
    })
    .join("\n");
}

/** Empty for a heading and for a line without a fact. */
const factOf = (line: string): string =>
  line.startsWith("#")
    ? ""
    : line
        .replace(DATE, "")
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, " ")
        .trim();
