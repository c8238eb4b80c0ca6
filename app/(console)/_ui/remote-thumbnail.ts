/**
 * Small versions of pictures on other hosts, fetched by the service: the page's policy allows no other
 * origin, and the host learns nothing of the reader. Only for pictures that the account's own members or
 * the catalog have set; an answer's are fetched after a click.
 */
import { type RefObject, useEffect, useState } from "react";
import { fetchWithBearer } from "../_api/request.ts";

/** A page of covers must not take all connections of the browser. */
const MAX_CONCURRENT = 4;
const MAX_KEPT = 300;

/** Object URLs by address; null where there is no picture. */
const loaded = new Map<string, Promise<string | null>>();
const waiting: (() => void)[] = [];
let active = 0;

function load(url: string): Promise<string | null> {
  const known = loaded.get(url);
  if (known) return known;
  const loading = inTurn(() => request(url));
  loaded.set(url, loading);
  const [oldest] = loaded;
  if (loaded.size > MAX_KEPT && oldest) {
    loaded.delete(oldest[0]);
    void oldest[1].then((source) => source !== null && URL.revokeObjectURL(source));
  }
  return loading;
}

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (active >= MAX_CONCURRENT) await new Promise<void>((begin) => waiting.push(begin));
  active += 1;
  try {
    return await work();
  } finally {
    active -= 1;
    waiting.shift()?.();
  }
}

async function request(url: string): Promise<string | null> {
  try {
    const query = new URLSearchParams({ url, width: "320" });
    const response = await fetchWithBearer(`/api/media/proxy?${query}`);
    return response.ok ? URL.createObjectURL(await response.blob()) : null;
  } catch {
    return null;
  }
}

/** Returns the source of the picture once `element` has been in view and the picture is loaded; else null. */
export function useRemoteThumbnail(url: string, element: RefObject<Element | null>): string | null {
  const [source, setSource] = useState<{ readonly url: string; readonly source: string } | null>(
    null,
  );
  useEffect(() => {
    let isCurrent = true;
    const observer = new IntersectionObserver(([entry]) => {
      if (!entry?.isIntersecting) return;
      observer.disconnect();
      void load(url).then((found) => {
        if (isCurrent && found !== null) setSource({ url, source: found });
      });
    });
    if (element.current) observer.observe(element.current);
    return () => {
      isCurrent = false;
      observer.disconnect();
    };
  }, [url, element]);
  return source?.url === url ? source.source : null;
}
