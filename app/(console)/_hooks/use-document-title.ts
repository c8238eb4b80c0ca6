"use client";
import { useEffect } from "react";

/**
 * Gives the document the title of what the page has read, once there is one. Next.js inserts the title of the
 * page later than the page. If there is none yet, setting one would create an element that no later page
 * removes, and that Next.js reads aloud as the name of every page that is opened.
 */
export function useDocumentTitle(title: string): void {
  useEffect(() => {
    if (title === "") return;
    const show = () => {
      const element = document.head.querySelector("title");
      if (element && element.textContent !== title) element.textContent = title;
    };
    show();
    const observer = new MutationObserver(show);
    observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    return () => observer.disconnect();
  }, [title]);
}
