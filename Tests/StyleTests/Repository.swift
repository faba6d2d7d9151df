import Foundation

/// The repository that these tests are part of.
enum Repository {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct GitError: Error, CustomStringConvertible {
        let reason: String
        var description: String { "the style tests look at the files that git knows, but \(reason)" }
    }

    /// The text files that git knows, or would add.
    static func files() throws -> [SourceFile] {
        let list = try git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate")
        let paths = list.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
        return paths.compactMap { path in
            // Removed but not committed, a symbolic link to a folder, or not text.
            guard let data = try? Data(contentsOf: root.appending(path: path)),
                let text = String(validating: data, as: UTF8.self)
            else { return nil }
            return SourceFile(path: path, text: text)
        }
    }

    private static func git(_ arguments: String...) throws -> Data {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["git", "-C", root.path] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw GitError(reason: "`git \(arguments.joined(separator: " "))` ended with \(process.terminationStatus)")
        }
        return data
    }
}
