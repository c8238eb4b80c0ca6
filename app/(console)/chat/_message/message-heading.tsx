/**
 * Lets people with a screen reader jump from message to message by heading. It stands in an element
 * with a position, so that it scrolls along.
 */
export function MessageHeading({ children }: { readonly children: string }) {
  return <h2 className="sr-only">{children}</h2>;
}
