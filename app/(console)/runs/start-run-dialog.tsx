import type { RunTrace, startRunContract } from "@/lib/turns/run-contract.ts";
import type { Answer } from "../_api/request.ts";
import { useForm } from "../_hooks/use-form.ts";
import { ModelField } from "../_models/model-field.tsx";
import { currentScope } from "../_session/scope.ts";
import { TextareaField } from "../_ui/form.tsx";
import { FormDialog } from "../_ui/form-dialog.tsx";

interface StartRunDialogProps {
  readonly from?: RunTrace["run"];
  readonly onClose: () => void;
  readonly onStarted: (runId: string) => void;
}

/** @param from the run to repeat: its prompt, model and artist */
export function StartRunDialog({ from, onClose, onStarted }: StartRunDialogProps) {
  const form = useForm(
    { prompt: from?.prompt ?? "", model: from?.model_id ?? "" },
    { prompt: "This prompt is too long. Shorten it and try again." },
  );
  const { prompt, model } = form.values;
  const submit = async () => {
    // A run that is repeated stays with its artist.
    const artistId = from === undefined ? currentScope().artist?.id : (from.artist_id ?? undefined);
    const body = { prompt, artistId, ...(model !== "" && { model }) };
    const result = await form.send<Answer<typeof startRunContract>>("/api/chat/runs", { body });
    if (result.ok) onStarted(result.data.runId);
  };
  return (
    <FormDialog
      title={from === undefined ? "Start agent run" : "Run again"}
      description="You can close this page while it runs."
      submit="Start"
      form={form}
      isComplete={prompt.trim() !== ""}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextareaField
        label="Prompt"
        hint="The agent cannot ask questions during a run, so include everything it needs to know."
        rows={6}
        placeholder="Compare this week's streams of our new single with the last release, and write a summary for the label."
        {...form.field("prompt")}
      />
      <ModelField label="Model" {...form.field("model")} />
    </FormDialog>
  );
}
