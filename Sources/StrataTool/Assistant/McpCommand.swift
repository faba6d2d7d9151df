import Foundation

/// `strata mcp`: answers an assistant.
enum McpCommand: Command {
    static let name = "mcp"
    static let summary = "answer an assistant over the Model Context Protocol"
    static let details =
        "Speaks the Model Context Protocol on standard input and output, for assistants that look for the cause of an "
        + "error: doctor, log, history, explain, access, device, query, what-if and minimize as tools with typed "
        + "arguments. It opens only the stores that are named here, changes nothing, never decrypts values, and marks "
        + "what it returns as data of users. An answer has at most 64 KB, and takes at most 5 seconds."

    static let operands = [
        Operand(
            name: Operand.store.name, help: "the store's directory; repeat for more, each with another name",
            isRepeatable: true)
    ]
    static let options: [any OptionDescription] = []
    static let examples = ["strata mcp Notes.strata"]

    static func isPaged(_ arguments: Arguments) -> Bool { false }
    static func showsProgress(_ arguments: Arguments) -> Bool { false }

    static func run(_ arguments: Arguments, _ output: Output) throws -> ExitCode {
        for store in arguments.operands { try StoreAccess.requireDirectory(store) }
        // Only what is named here is opened, as the service.
        for variable in ["STRATA_STORE", "STRATA_USER"] { unsetenv(variable) }
        let server = AssistantServer(arguments.operands)
        let lines = try LineReader("-")
        while let line = try lines.next({ Data($0) }) {
            guard !line.isEmpty, let answer = server.answer(line) else { continue }
            answer.withUnsafeBytes { output.write($0) }
            try output.endLine()
            try output.flush()
        }
        return .success
    }
}
