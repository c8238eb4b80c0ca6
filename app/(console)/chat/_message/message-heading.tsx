/**
 * Lets people with a screen reader jump from message to message by heading. It stands in an element
 * with a position, so that it scrolls along.
 */
export const MessageHeading = ({ children }: { readonly children: string }) => (
  <h2 className="sr-only">{children}</h2>
);

export const UserText = ({ children }: { readonly children: string }) => (
  <p className="max-w-[85%] rounded-2xl rounded-br-md bg-muted px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
    {children}
  </p>
);
