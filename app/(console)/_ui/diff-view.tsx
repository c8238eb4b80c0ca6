import { ScrollBox } from "./scroll-box.tsx";

/** Changes as a unified diff. */
export const DiffView = ({ diff }: { readonly diff: string }) => (
  <ScrollBox label="Changes" className="mt-2 max-h-56 text-xs">
    <pre className="whitespace-pre-wrap wrap-anywhere">{diff}</pre>
  </ScrollBox>
);
