const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => `&#${letter.codePointAt(0)};`);

const page = (body: string) => `<!doctype html>
<html lang="en">
<title>Agent host</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 40rem; margin: 3rem auto; }</style>
${body}
</html>
`;

export const signInPage = () => page('<h1>Agent host</h1><p><a href="/login">Sign in</a>');

export const askPage = (username: string) =>
  page(`<h1>Hello, ${escaped(username)}</h1>
<form method="post" action="/ask"><label>Pizza <input name="pizza" value="calzone"></label> <button>Let the agent order it</button></form>
<form method="post" action="/logout"><button>Sign out</button></form>`);
