import { useRouter } from "next/navigation";
import type { runTaskContract } from "@/lib/tasks/contract.ts";
import type { Answer } from "../_api/request.ts";
import { useSubmit } from "../_hooks/use-submit.ts";
import { Button } from "../_ui/button.tsx";
import { Play } from "../_ui/icons.tsx";
import { toast } from "../_ui/toast.tsx";

export function RunNowButton({ id, title }: { readonly id: string; readonly title: string }) {
  const router = useRouter();
  const { send, busy } = useSubmit();
  const start = async () => {
    const result = await send<Answer<typeof runTaskContract>>(`/api/tasks/${id}/run`, {});
    if (result.ok) router.push(`/runs/${result.data.run_id}`);
    else toast(result.error.message, "danger");
  };
  return (
    <Button icon={Play} variant="outline" busy={busy} onClick={() => void start()}>
      Run now<span className="sr-only">: {title}</span>
    </Button>
  );
}
