import type { DeliveryAddress } from "@/lib/delivery/contract.ts";
import { useAccount } from "../../_hooks/shared-reads.ts";
import { useQuery } from "../../_hooks/use-query.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { Button } from "../../_ui/button.tsx";
import { ChipsInput } from "../../_ui/chips-input.tsx";
import { Field } from "../../_ui/form.tsx";
import { toast } from "../../_ui/toast.tsx";

const PATH = "/api/delivery-addresses";
const STATES = {
  pending: "has not confirmed yet.",
  unsubscribed: "has unsubscribed.",
  bounced: "could not be reached.",
  unknown: "needs to confirm first, unless they are in your organization.",
} as const;

interface RecipientsFieldProps {
  readonly value: readonly string[];
  readonly onChange: (value: readonly string[]) => void;
  readonly error: string | undefined;
}

/** Who gets the answers by mail, with those who have not confirmed that they want them. */
export function RecipientsField({ value, onChange, error }: RecipientsFieldProps) {
  const own = useAccount().data?.account.email;
  const { data, reload } = useQuery<{ addresses: DeliveryAddress[] }>(`${PATH}?limit=100`);
  const { send, busy } = useSubmit();
  const ask = async (address: string) => {
    const result = await send(PATH, { body: { address } });
    if (result.ok) toast(`Confirmation email sent to ${address}`);
    else toast(result.error.message, "danger");
    reload();
  };
  return (
    <Field
      label="Email results to"
      hint="You, members of your organizations, and people who have confirmed. Empty answers aren’t sent."
      error={error}
    >
      {(ids) => (
        <>
          <ChipsInput {...ids} values={value} onChange={onChange} placeholder="name@example.com" />
          {value.map((address) => {
            const known = data?.addresses.find((one) => one.address === address.toLowerCase());
            const state = known?.state ?? "unknown";
            if (!data || address === own || state === "confirmed") return null;
            return (
              <p key={address} className="flex flex-wrap items-center gap-2 text-sm wrap-anywhere">
                {address} {STATES[state]}
                <Button variant="outline" size="sm" busy={busy} onClick={() => void ask(address)}>
                  Ask to confirm
                </Button>
              </p>
            );
          })}
        </>
      )}
    </Field>
  );
}
