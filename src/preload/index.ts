import { contextBridge, ipcRenderer } from 'electron';
import type { Bridge } from '../shared/host.ts';

// Two channels and a word; nothing of Electron or Node reaches the page.
const bridge: Bridge = {
  platform: process.platform,
  request: (route, input) => ipcRenderer.invoke('request', { route, input }),
  on: (event, listener) => {
    const forward = (_: unknown, message: { name: string; payload: unknown }) => {
      if (message.name === event) listener(message.payload);
    };
    ipcRenderer.on('event', forward);
    return () => ipcRenderer.off('event', forward);
  },
};

contextBridge.exposeInMainWorld('metaclaw', bridge);
