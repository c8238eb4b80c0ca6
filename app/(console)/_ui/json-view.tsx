import { CopyButton } from "./copy-button.tsx";
import { ScrollBox } from "./scroll-box.tsx";

/** A value as indented JSON in a scrollable box. */
export function JsonView({ label, value }: { readonly label: string; readonly value: unknown }) {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="relative min-w-0 rounded-lg border bg-muted/50">
      <CopyButton
        text={text}
        label={`Copy ${label}`}
        variant="ghost"
        className="absolute top-1 right-1 z-10 size-7 [&_svg]:size-3.5"
      />
      <ScrollBox label={label} className="max-h-80">
        <pre className="w-fit min-w-full py-2.5 pr-10 pl-3 font-mono text-[0.8125rem] leading-normal">
          {text}
        </pre>
      </ScrollBox>
    </div>
  );
}
