import { visibleName } from "@platform/kit/visible-name";
import type { Metadata } from "next";
import { headers } from "next/headers";
import { notFound } from "next/navigation";
import { cache } from "react";
import { GET } from "@/app/api/shares/[token]/route.ts";
import { callEndpoint } from "@/lib/http/call-endpoint.ts";
import { serviceOrigin } from "@/lib/platform/service-origin.ts";
import { readShareContract } from "@/lib/sessions/shares/contract.ts";
import { Hourglass } from "../../_ui/icons.tsx";
import { EmptyState } from "../../_ui/states.tsx";
import { SharedChat, type SharedPage } from "../shared-chat.tsx";

type Props = Readonly<{ params: Promise<{ readonly token: string }> }>;

/** Reads the beginning of a shared chat, once for each visit, with the visitor's own rate limit. */
const readSharedChat = cache(async (token: string): Promise<SharedPage | "missing" | "limited"> => {
  const visit = new Request(serviceOrigin(), { headers: new Headers(await headers()) });
  const response = await callEndpoint(readShareContract, GET, { token }, visit);
  if (response.ok) return response.json();
  if (response.status === 404) return "missing";
  if (response.status === 429) return "limited";
  throw new Error(`The share could not be read: ${response.status}`);
});

export async function generateMetadata({ params }: Props): Promise<Metadata> {
  const found = await readSharedChat((await params).token);
  const title = visibleName(typeof found === "object" ? found.share.title : "") || "Shared chat";
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
  if (found === "missing") notFound();
  if (found !== "limited") return <SharedChat token={token} first={found} />;
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
