"use client";
import { useEffect, useState } from "react";

/** A box that can be typed in as soon as React runs. */
export default function Page() {
  const [text, setText] = useState("");
  const [isReady, setReady] = useState(false);
  useEffect(() => setReady(true), []);
  return (
    <textarea
      aria-label="Message"
      disabled={!isReady}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
