"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { useSession } from "../_session/auth.ts";
import { useFrame } from "./frame.tsx";
import { Landing } from "./landing.tsx";

/** The landing page. Signed-in users are redirected to the chat. */
export function Start() {
  const { status } = useSession();
  const { wasSignedIn } = useFrame();
  const router = useRouter();
  useEffect(() => {
    if (status !== "signed-in") return;
    // React leaves the title in the document when the page is left before it was hydrated. It would be read
    // aloud as the name of the pages that follow. In a fragment, React can still remove it by itself.
    const title = document.head.querySelector("title");
    if (title) new DocumentFragment().append(title);
    router.replace("/chat");
  }, [status, router]);
  const leaving = status === "signed-in" || (status === "loading" && wasSignedIn);
  return leaving ? <p className="sr-only">Loading…</p> : <Landing />;
}
