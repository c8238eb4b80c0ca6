import { Check, FileSpreadsheet } from "lucide-react";
import { Cover } from "../_ui/cover.tsx";

const steps = [
  "Read statement-q3.csv, 1,842 rows",
  "Compared the rates with the contract",
] as const;

const findings = [
  { track: "Low Tide Letters", problem: "Paid at 12 % instead of 15 %", amount: "€1,204.60" },
  { track: "Harbor Lights", problem: "No streams listed for August", amount: "€386.10" },
  { track: "Paper Moon (Live)", problem: "Counted under another label", amount: "€92.45" },
] as const;

/** A picture of a chat, made of text: what is handed over, what is done, and what comes back. */
export function LandingExample() {
  return (
    <figure
      aria-label="An example: a royalty statement is checked"
      className="min-w-0 max-w-2xl overflow-hidden rounded-2xl border bg-surface shadow-lg"
    >
      <div className="flex flex-col gap-4 p-4 sm:p-6">
        <div className="ml-auto max-w-md rounded-2xl rounded-br-md bg-muted px-4 py-2.5">
          <p>Check the Q3 statement against our contract. What do they owe us?</p>
          <p className="mt-2 inline-flex items-center gap-1.5 rounded-md border bg-surface px-2 py-1 text-sm">
            <FileSpreadsheet aria-hidden className="size-4 text-success-text" />
            statement-q3.csv
          </p>
        </div>
        <ul className="flex flex-col gap-1 text-sm text-muted-foreground">
          {steps.map((step) => (
            <li key={step} className="flex items-center gap-2">
              <Check aria-hidden className="size-3.5 shrink-0 text-success-text" />
              {step}
            </li>
          ))}
        </ul>
        <p>
          Three tracks were paid too little, <strong>€1,683.15</strong> in all:
        </p>
        <ul className="text-sm">
          {findings.map(({ track, problem, amount }) => (
            <li key={track} className="flex items-center gap-2.5 border-t py-2">
              <Cover seed={track} className="size-8" />
              <span className="flex-1 font-medium">{track}</span>
              <span className="flex-1 text-muted-foreground max-sm:hidden">{problem}</span>
              <span className="tabular-nums">{amount}</span>
            </li>
          ))}
        </ul>
      </div>
    </figure>
  );
}
