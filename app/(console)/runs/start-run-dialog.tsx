"use client";
import { type FormEvent, useState } from "react";
import type { z } from "zod";
import { useSubmit } from "@/app/(console)/_hooks/use-submit.ts";
import { ModelPicker } from "@/app/(console)/_models/model-picker.tsx";
import { currentScope } from "@/app/(console)/_session/scope.ts";
import type { startRunContract } from "@/lib/turns/contract.ts";
import type { RunTrace } from "@/lib/turns/run-contract.ts";
import { Button } from "../_ui/button.tsx";
import { Dialog, DialogActions, DialogClose } from "../_ui/dialog.tsx";
import { ErrorState } from "../_ui/error-state.tsx";
import { Field } from "../_ui/field.tsx";
import { Textarea } from "../_ui/textarea.tsx";

type Started = z.output<(typeof startRunContract)["responses"][202]["schema"]>;

/** @param from the run to repeat: its prompt, model and artist */
export function StartRunDialog({
  from,
  onClose,
  onStarted,
}: {
  readonly from?: RunTrace["run"];
  readonly onClose: () => void;
  readonly onStarted: (runId: string) => void;
}) {
  const [prompt, setPrompt] = useState(from?.prompt ?? "");
  const [model, setModel] = useState(from?.model_id ?? "");
  const { send, busy, error } = useSubmit<Started>();

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // A run that is repeated stays with its artist.
    const artistId = from === undefined ? currentScope().artist?.id : (from.artist_id ?? undefined);
    const body = { prompt, artistId, ...(model === "" ? {} : { model }) };
    const result = await send("/api/chat/runs", { body });
    if (result.ok) onStarted(result.data.runId);
  };

  const isPromptInvalid = error?.fields.includes("prompt") ?? false;
  return (
    <Dialog
      title={from === undefined ? "Start agent run" : "Run again"}
      description="The agent works in its own session and sandbox. You can close this page while it runs."
      open
      onOpenChange={(open) => !open && onClose()}
    >
      <form noValidate onSubmit={(event) => void submit(event)} className="flex flex-col gap-4">
        {error !== null && !isPromptInvalid && <ErrorState error={error} />}
        <Field
          label="Prompt"
          hint="The agent cannot ask questions during a run, so include everything it needs to know."
          error={isPromptInvalid ? "This prompt is too long. Shorten it and try again." : undefined}
        >
          {(ids) => (
            <Textarea
              {...ids}
              rows={6}
              placeholder="Compare this week's streams of our new single with the last release, and write a summary for the label."
              value={prompt}
              onChange={(event) => setPrompt(event.target.value)}
            />
          )}
        </Field>
        <Field label="Model">
          {(ids) => <ModelPicker {...ids} value={model} isField onChoose={setModel} />}
        </Field>
        <DialogActions>
          <DialogClose asChild>
            <Button variant="outline">Cancel</Button>
          </DialogClose>
          <Button type="submit" busy={busy} disabled={prompt.trim() === ""}>
            Start
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
