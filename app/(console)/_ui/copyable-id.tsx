import { CopyButton } from "./copy-button.tsx";

/** An id with a button that copies it. `label` is the name of the button. */
export function CopyableId({ id, label }: { readonly id: string; readonly label: string }) {
  return (
    <div className="flex items-center gap-1">
      <code className="min-w-0 font-mono text-xs break-all text-muted-foreground">{id}</code>
      <CopyButton
        text={id}
        label={label}
        variant="ghost"
        className="size-6 shrink-0 [&_svg]:size-3.5"
      />
    </div>
  );
}
