// Hold a conversation through Google's JavaScript SDK, and print its results as JSON.
// Usage: node genai.mjs ws://HOST:PORT UTTERANCE.wav, in the folder that has node_modules/@google/genai.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const [url, path] = process.argv.slice(2);
const folder = `${process.cwd()}/`;
const { GoogleGenAI, Modality } = createRequire(folder)('@google/genai');
const sdk = JSON.parse(readFileSync(`${folder}node_modules/@google/genai/package.json`));
const client = new GoogleGenAI({ apiKey: 'no-key-needed', httpOptions: { baseUrl: url.replace('ws:', 'http:') } });

const messages = [];
let arrived = () => {};
async function next() {
  while (!messages.length) await new Promise((resolve) => (arrived = resolve));
  return messages.shift();
}

const session = await client.live.connect({
  model: 'gemini-3.8-live',
  config: {
    responseModalities: [Modality.AUDIO],
    inputAudioTranscription: {},
    outputAudioTranscription: {},
    sessionResumption: {},
    tools: [{ functionDeclarations: [{
      name: 'get_weather',
      parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } },
    }] }],
  },
  callbacks: {
    onmessage: (message) => { messages.push(message); arrived(); },
    onclose: (event) => { if (event.code !== 1000) { console.error(event.reason); process.exit(1); } },
    onerror: (event) => console.error(event.message),
  },
});

async function turn() {
  const seen = { said: '', heard: [], calls: [], audio_s: 0 };
  for (;;) {
    const { serverContent: content, toolCall } = await next();
    for (const call of toolCall?.functionCalls ?? []) {
      seen.calls.push([call.name, call.args]);
      const response = { output: JSON.stringify({ temperature_c: 21, conditions: 'sunny' }) };
      session.sendToolResponse({ functionResponses: [{ id: call.id, name: call.name, response }] });
    }
    for (const part of content?.modelTurn?.parts ?? []) {
      seen.audio_s += Buffer.from(part.inlineData?.data ?? '', 'base64').length / 48000;
    }
    seen.said += content?.outputTranscription?.text ?? '';
    if (content?.inputTranscription?.text) seen.heard.push(content.inputTranscription.text);
    if (content?.turnComplete && seen.said) return seen;
  }
}

const report = { client: `@google/genai ${sdk.version}` };
session.sendClientContent({ turns: 'goodbye' });
report.typed = await turn();
session.sendRealtimeInput({ text: 'what is the weather in Lisbon' });
report.tool = await turn();
const sound = Buffer.concat([readFileSync(path).subarray(44), Buffer.alloc(32000)]);
for (let start = 0; start < sound.length; start += 3200) {
  const data = sound.subarray(start, start + 3200).toString('base64');
  session.sendRealtimeInput({ audio: { data, mimeType: 'audio/pcm;rate=16000' } });
}
report.spoken = await turn();
session.close();
console.log(JSON.stringify(report));
process.exit(0);
