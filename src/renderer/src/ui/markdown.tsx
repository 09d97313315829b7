import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** Markdown for reading. No HTML, no images, and links are shown with their address but lead nowhere: the text is not ours. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <ReactMarkdown
        remarkPlugins={[remarkGfm]}
        disallowedElements={['img']}
        components={{
          a: ({ href, children }) => (
            <span>
              {children} <span className="t3">({href})</span>
            </span>
          ),
          // Headings of a text must not break the order of the window's own.
          h1: ({ children }) => <h3>{children}</h3>,
          h2: ({ children }) => <h4>{children}</h4>,
          h3: ({ children }) => <h4>{children}</h4>,
          h4: ({ children }) => <h4>{children}</h4>,
          h5: ({ children }) => <h4>{children}</h4>,
          h6: ({ children }) => <h4>{children}</h4>,
        }}
      >
        {text}
      </ReactMarkdown>
    </div>
  );
}

/** The body of a SKILL.md. */
export function withoutFrontMatter(content: string): string {
  return content.replace(/^\uFEFF?---\r?\n[\s\S]*?\r?\n---[ \t]*(\r?\n|$)/, '').trim();
}
