import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { useHashLocation } from 'wouter/use-hash-location';
import '@fontsource-variable/inter/wght.css';
import './ui/tokens.css';
import './ui/base.css';
import './ui/shell.css';
import './ui/controls.css';
import './ui/content.css';
import './ui/overlays.css';
import './ui/adapt.css';
import './screens/screens.css';
import './screens/overview/overview.css';
import './screens/activity.css';
import './screens/skills.css';
import './screens/memories/memories.css';
import './screens/settings/settings.css';
import './screens/usage/usage.css';
import './screens/setup/setup.css';
import { App } from './app.tsx';

/** Style sheets that libraries add at run time (scroll locks of dialogs) take the nonce that the host gave the page. */
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
Object.assign(globalThis, { __webpack_nonce__: nonce });

const client = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 30_000, retry: false, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no root');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <Router hook={useHashLocation}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
