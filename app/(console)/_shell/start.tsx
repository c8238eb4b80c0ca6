"use client";
import { useRouter } from "next/navigation";
import { useEffect } from "react";
import { useSession } from "@/app/(console)/_session/auth.ts";
import { useFrame } from "./frame.tsx";
import { Landing } from "./landing.tsx";

/** The landing page. Signed-in users are redirected to the chat. */
export function Start() {
  const { status } = useSession();
  const { wasSignedIn } = useFrame();
  const router = useRouter();
  useEffect(() => {
    if (status === "signed-in") router.replace("/chat");
  }, [status, router]);
  const leaving = status === "signed-in" || (status === "loading" && wasSignedIn);
  return leaving ? <p className="sr-only">Loading…</p> : <Landing />;
}
