import type { ReactNode } from "react";

type MessageProps = Readonly<{ author: string; className?: string; children: ReactNode }>;

/**
 * A message. Its heading lets people with a screen reader jump from message to message; the element has a
 * position, so that the heading scrolls along.
 */
export const Message = ({ author, className = "", children }: MessageProps) => (
  <article aria-label={author} className={`relative ${className}`}>
    <h2 className="sr-only">{author}</h2>
    {children}
  </article>
);

export const UserText = ({ children }: { readonly children: string }) => (
  <p className="max-w-[85%] rounded-2xl rounded-br-md bg-muted px-3.5 py-2 whitespace-pre-wrap [overflow-wrap:anywhere]">
    {children}
  </p>
);
