"use client";
import { useEffect, useState } from "react";
import { useAccount } from "../../_hooks/shared-reads.ts";
import { useSubmit } from "../../_hooks/use-submit.ts";
import { chooseNotifications, wantsNotifications } from "../../_shell/notification-choice.ts";
import { SectionCard } from "../../_ui/card.tsx";
import { Switch } from "../../_ui/form.tsx";
import { ErrorNote } from "../../_ui/states.tsx";

export function NotificationSettings() {
  const [isOn, setOn] = useState(false);
  const [wasRefused, setRefused] = useState(false);
  useEffect(() => setOn(wantsNotifications()), []);
  const choose = async (wanted: boolean) => {
    const isNowOn = await chooseNotifications(wanted);
    setOn(isNowOn);
    setRefused(wanted && !isNowOn);
  };
  const account = useAccount();
  const { send, error } = useSubmit();
  const [wantsMail, setWantsMail] = useState<boolean | null>(null);
  const mail = async (mail_when_waiting: boolean) => {
    setWantsMail(mail_when_waiting);
    const body = { mail_when_waiting };
    const { ok } = await send("/api/accounts/me", { method: "PATCH", body });
    if (ok) account.reload();
    else setWantsMail(null);
  };
  return (
    <>
      <SectionCard
        title="When an answer is ready"
        description="While you work on another page, a notice with a link to the chat appears at the bottom of the window."
      >
        <Switch
          label="Browser notifications"
          hint="Also when this tab is in the background. Applies to this browser only."
          checked={isOn}
          onChange={(wanted) => void choose(wanted)}
        />
        {wasRefused && (
          <p role="alert" className="mt-3 rounded-md bg-warning-soft px-3 py-2 text-warning-text">
            Your browser blocks notifications from this site. Allow them in its site settings, then
            try again.
          </p>
        )}
      </SectionCard>
      <SectionCard
        title="When something waits for you"
        description="When an agent asks for your approval, or a background run needs a result, before it continues."
      >
        <ErrorNote>{error?.message ?? null}</ErrorNote>
        <Switch
          label="Email"
          hint="One for each run, with a link to it. In a chat, after two minutes."
          checked={wantsMail ?? account.data?.account.mail_when_waiting ?? false}
          onChange={(wanted) => void mail(wanted)}
        />
      </SectionCard>
    </>
  );
}
