import type { Artist } from "@/lib/artists/artist.ts";
import { useForm } from "../../_hooks/use-form.ts";
import { chooseArtist, useScope } from "../../_session/scope.ts";
import { TextField } from "../../_ui/form.tsx";
import { FormDialog } from "../../_ui/form-dialog.tsx";
import { type Suggestion, VARIABLE, variablesIn } from "./suggestion.ts";

interface VariablesDialogProps extends Suggestion {
  readonly onFill: (text: string) => void;
  readonly onClose: () => void;
}

/** Asks for the values of a prompt's variables, or offers the files of the example artist instead. */
export function VariablesDialog({ title, prompt, sample, onFill, onClose }: VariablesDialogProps) {
  const { artist } = useScope();
  const names = variablesIn(prompt);
  const known: Readonly<Record<string, string>> = { artist: artist?.name ?? "", period: quarter() };
  const form = useForm<Record<string, string>>(
    Object.fromEntries(names.map((name) => [name, known[name] ?? ""])),
  );
  const fillSample = async (text: string) => {
    const example = await form.send<{ artist: Artist }>("/api/artists/example");
    if (!example.ok) return;
    chooseArtist(example.data.artist);
    onFill(text);
  };
  const values = new Map(Object.entries(form.values));
  return (
    <FormDialog
      title={title}
      submit="Continue"
      form={form}
      onSubmit={async () => {
        // Empty values can be completed in the box.
        onFill(
          prompt.replace(VARIABLE, (whole, name: string) => values.get(name)?.trim() || whole),
        );
      }}
      onClose={onClose}
    >
      {names.map((name) => (
        <TextField
          key={name}
          label={name.charAt(0).toUpperCase() + name.slice(1)}
          maxLength={500}
          autoComplete="off"
          {...form.field(name)}
        />
      ))}
      {sample !== undefined && (
        <p className="text-sm text-muted-foreground">
          No file at hand?{" "}
          <button
            type="button"
            onClick={() => void fillSample(sample)}
            className="text-accent-text underline underline-offset-4"
          >
            Use the sample
          </button>
        </p>
      )}
    </FormDialog>
  );
}

/** The last complete quarter, such as `Q3 2026`, for which statements exist. */
function quarter(now = new Date()): string {
  const last = new Date(now.getFullYear(), now.getMonth() - 3);
  return `Q${Math.floor(last.getMonth() / 3) + 1} ${last.getFullYear()}`;
}
