/** What happened to a chat, told to whoever shows it: in this tab and in the others. */
export interface ChatEvent {
  readonly sessionId: string;
  /** Null for a session as a whole. */
  readonly chatId: string | null;
  /** A turn began or ended; the chat was made or renamed; it is gone. */
  readonly what: "started" | "ended" | "changed" | "deleted";
}

type Listener = (event: ChatEvent, isOwn: boolean) => void;

const NAME = "agent-platform-chats";
const listeners = new Set<Listener>();
let channel: BroadcastChannel | undefined;

export function tellChats(event: ChatEvent): void {
  open().postMessage(event);
  for (const listener of listeners) listener(event, true);
}

/** @returns how to stop listening. */
export function onChats(listener: Listener): () => void {
  open();
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function open(): BroadcastChannel {
  if (channel) return channel;
  channel = new BroadcastChannel(NAME);
  // Only this application, of this origin, has the channel.
  channel.onmessage = ({ data }: MessageEvent<ChatEvent>) => {
    for (const listener of listeners) listener(data, false);
  };
  return channel;
}
