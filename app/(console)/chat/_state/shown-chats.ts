/** The ids of the chats that this tab shows. Their answers need no notice. */
export const shownChats = new Set<string>();
