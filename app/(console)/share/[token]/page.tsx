import { Hourglass } from "lucide-react";
import type { Metadata } from "next";
import { notFound } from "next/navigation";
import { EmptyState } from "../../_ui/states.tsx";
import { readSharedChat, titleOfShare } from "../read-shared-chat.ts";
import { SharedChat } from "../shared-chat.tsx";

type Props = Readonly<{ params: Promise<{ readonly token: string }> }>;

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const found = await readSharedChat((await params).token);
  const title = found.status === "found" ? titleOfShare(found.page.share) : "Shared chat";
  const description = "A conversation with an agent, shared by its owner.";
  return {
    title,
    description,
    openGraph: { type: "article", title, description },
    robots: { index: false, follow: false },
    referrer: "no-referrer",
  };
}

/** A chat that its owner has shared, for anyone who has the link. Rendered on the server. */
export default async function SharePage({ params }: Props) {
  const { token } = await params;
  const found = await readSharedChat(token);
  if (found.status === "missing") notFound();
  if (found.status === "limited") return <TooManyVisits />;
  return <SharedChat token={token} first={found.page} />;
}

function TooManyVisits() {
  return (
    <div className="mx-auto max-w-lg px-4 py-16">
      <EmptyState
        icon={Hourglass}
        title="Too many visits"
        text="Your network has opened many shared chats in a short time. Wait a minute, then load this page again."
      />
    </div>
  );
}
