import { CopyButton } from "../../_ui/copy-button.tsx";
import { Section } from "../../_ui/page-header.tsx";
import { ScrollBox } from "../../_ui/scroll-box.tsx";

/** The JSON that a run has submitted. */
export function RunOutput({ output }: { readonly output: unknown }) {
  const text = JSON.stringify(output, null, 2);
  return (
    <Section title="Output" className="mt-6">
      <div className="relative">
        <ScrollBox label="Output JSON" className="max-h-96 rounded-xl border bg-surface px-4 py-3">
          <pre className="pr-10 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]">
            {text}
          </pre>
        </ScrollBox>
        <CopyButton isSmall text={text} label="Copy output" className="absolute top-2 right-2" />
      </div>
    </Section>
  );
}
