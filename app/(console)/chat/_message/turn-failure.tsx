import { CircleAlert, RotateCw } from "lucide-react";
import { describeTurnError } from "../../_api/describe-error.ts";
import { ModelPicker } from "../../_models/model-picker.tsx";
import { Button, ButtonLink } from "../../_ui/button.tsx";

interface TurnFailureProps {
  readonly error: string;
  readonly modelId: string;
  /** Null where the answer cannot be repeated. */
  readonly onRetry: (() => void) | null;
  readonly onTryModel: (modelId: string) => void;
}

export function TurnFailure({ error, modelId, onRetry, onTryModel }: TurnFailureProps) {
  const { text, canRetry, suggestsModel, isOfBudget } = describeTurnError(error);
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-2 rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger-text"
    >
      <CircleAlert aria-hidden className="size-4 shrink-0" />
      <p className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">{text}</p>
      {isOfBudget && (
        <ButtonLink href="/usage" variant="outline" size="sm">
          Open budget
        </ButtonLink>
      )}
      {onRetry && canRetry && (
        <Button icon={RotateCw} variant="outline" size="sm" onClick={onRetry}>
          Retry
        </Button>
      )}
      {onRetry && suggestsModel && (
        <ModelPicker label="Try another model" value={modelId} onChoose={onTryModel} />
      )}
    </div>
  );
}
