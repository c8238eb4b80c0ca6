"use client";
import { useQuery } from "@tanstack/react-query";
import type { DeveloperMail } from "@/app/auth/developer/mail/developer-mail.ts";
import { buttonStyle } from "../../_ui/button.tsx";
import { Card } from "../../_ui/card.tsx";
import { CopyButton } from "../../_ui/copy-button.tsx";
import { Inbox as InboxIcon } from "../../_ui/icons.tsx";
import { Page } from "../../_ui/page-header.tsx";
import { RelativeTime } from "../../_ui/relative-time.tsx";
import { EmptyState, ListSkeleton } from "../../_ui/states.tsx";

/** The mails of a development server, which sends none. New ones appear by themselves. */
export function Inbox() {
  const { data: mails } = useQuery({
    queryKey: ["developer mail"],
    queryFn: async (): Promise<readonly DeveloperMail[]> => {
      const response = await fetch("/auth/developer/mail", { method: "POST" }).catch(() => null);
      return response?.ok ? (await response.json()).mails : [];
    },
    refetchInterval: 2_500,
  });
  return (
    <Page
      className="max-w-3xl"
      title="Development mail"
      description="This server sends no mail. What it would send is kept on this machine and shown here."
    >
      {mails === undefined ? (
        <ListSkeleton label="Loading mails…" rows={3} />
      ) : mails.length === 0 ? (
        <EmptyState
          icon={InboxIcon}
          title="No mail yet"
          text="Request a sign-in code or invite a member, and the mail appears here."
        />
      ) : (
        <ul aria-label="Mails" className="flex flex-col gap-3">
          {mails.map((mail) => (
            <li key={mail.id}>
              <MailCard mail={mail} />
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

function MailCard({ mail: { to, subject, text, sentAt } }: { readonly mail: DeveloperMail }) {
  const code = /\b\d{6,8}\b/.exec(text)?.[0];
  const link = /https?:\/\/\S+/.exec(text)?.[0];
  return (
    <Card className="flex flex-wrap items-start justify-between gap-4">
      <div className="min-w-0 flex-1">
        <h2 className="font-semibold break-words">{subject}</h2>
        <p className="text-sm break-words text-muted-foreground">
          To {to} · <RelativeTime date={sentAt} />
        </p>
        <p className="mt-3 break-words whitespace-pre-line">{text}</p>
      </div>
      {link !== undefined && (
        <a href={link} className={buttonStyle({ variant: "outline", size: "sm" })}>
          Open link
        </a>
      )}
      {code !== undefined && (
        <div className="flex items-center gap-2">
          <code className="font-mono text-xl font-semibold tracking-widest">{code}</code>
          <CopyButton text={code} label="Copy code" />
        </div>
      )}
    </Card>
  );
}
