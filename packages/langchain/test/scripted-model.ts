import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models';
import { AIMessage, type BaseMessage, type ToolCall } from '@langchain/core/messages';
import type { ChatResult } from '@langchain/core/outputs';

/** The model's reply in one turn, given the conversation and the names of its tools. */
type Turn = (messages: BaseMessage[], toolNames: string[]) => string | Omit<ToolCall, 'type'>[];

/** A chat model that says what it was told to: the turns one after another, each a text or calls of tools. */
export class ScriptedModel extends BaseChatModel {
  readonly #turns: Turn[];

  constructor(...turns: Turn[]) {
    super({});
    this.#turns = turns;
  }

  override _llmType(): string {
    return 'scripted';
  }

  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools: tools.map((tool) => (tool as { name: string }).name) } as object);
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult> {
    const turn = this.#turns.shift();
    if (turn === undefined) throw new Error('The script has no further turn');
    const said = turn(messages, (options as { tools?: string[] }).tools ?? []);
    const message = typeof said === 'string' ? new AIMessage(said) : new AIMessage({ content: '', tool_calls: said });
    return { generations: [{ text: message.text, message }] };
  }
}
