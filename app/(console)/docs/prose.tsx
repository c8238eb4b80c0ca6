/** A sentence of the document: what stands between backticks is code. */
export function Prose({ text }: { readonly text: string }) {
  return text.split("`").map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
      <code key={index} className="font-mono text-[0.9em] break-words text-foreground">
        {piece}
      </code>
    ),
  );
}
