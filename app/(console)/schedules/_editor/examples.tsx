import type { Recurrence } from "@/app/(console)/schedules/_state/recurrence.ts";
import { Button } from "../../_ui/button.tsx";

interface Example {
  readonly title: string;
  readonly prompt: string;
  readonly recurrence: Recurrence;
}

const examples: readonly Example[] = [
  {
    title: "Monday streaming report",
    prompt:
      "Sum up last week's streams of our artists by track and platform. Compare them with the week before, and name the three changes that matter.",
    recurrence: { kind: "weekly", days: [1], time: "08:00" },
  },
  {
    title: "Daily chart watch",
    prompt:
      "Check today's charts for our artists and report what has moved, with the likely reason for each.",
    recurrence: { kind: "weekdays", time: "09:00" },
  },
  {
    title: "Royalty deadlines",
    prompt:
      "List the royalty statements and payments that are due this month, with their dates and who sends them.",
    recurrence: { kind: "monthly", day: "1", time: "09:00" },
  },
];

/** Fills the form of a new schedule, to be changed or created as it is. */
export function Examples({ onChoose }: { readonly onChoose: (example: Example) => void }) {
  return (
    <section aria-label="Examples" className="flex flex-wrap items-center gap-2">
      <span className="text-sm text-muted-foreground">Start from an example:</span>
      {examples.map((example) => (
        <Button key={example.title} variant="outline" size="sm" onClick={() => onChoose(example)}>
          {example.title}
        </Button>
      ))}
    </section>
  );
}
