"use client";
import { useEffect, useState } from "react";
import { chooseNotifications, wantsNotifications } from "../../_shell/notification-choice.ts";
import { SectionCard } from "../../_ui/card.tsx";
import { Switch } from "../../_ui/form.tsx";

export function NotificationSettings() {
  const [isOn, setOn] = useState(false);
  const [wasRefused, setRefused] = useState(false);
  useEffect(() => setOn(wantsNotifications()), []);
  const choose = async (wanted: boolean) => {
    const isNowOn = await chooseNotifications(wanted);
    setOn(isNowOn);
    setRefused(wanted && !isNowOn);
  };
  return (
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
  );
}
