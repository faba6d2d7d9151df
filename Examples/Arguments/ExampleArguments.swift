import Foundation

/// The command line of an example.
package enum ExampleArguments {
    /// Returns the arguments. Ends the program with 0 after `--help`, and with 2 if there are too few or too many.
    ///
    /// - Parameters:
    ///   - usage: Begins with the line that shows the arguments.
    ///   - counts: How many arguments the program takes.
    @discardableResult
    package static func read(usage: String, counts: ClosedRange<Int> = 0...0) -> [String] {
        let words = Array(CommandLine.arguments.dropFirst())
        if words.contains("--help") || words.contains("-h") {
            print(usage)
            exit(0)
        }
        guard counts.contains(words.count), !words.contains(where: { $0.isEmpty || $0.hasPrefix("-") }) else {
            end(usage, code: 2)
        }
        return words
    }

    /// Returns the one argument, a directory for a new store. Ends the program with 1 if something is in it.
    package static func newDirectory(usage: String) -> String {
        let path = read(usage: usage, counts: 1...1)[0]
        if FileManager.default.fileExists(atPath: path),
            (try? FileManager.default.contentsOfDirectory(atPath: path).isEmpty) != true
        {
            end("\(path) is there already; name a directory that does not exist.", code: 1)
        }
        return path
    }

    /// Ends the program with a message on the standard error.
    package static func end(_ message: String, code: Int32) -> Never {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(code)
    }
}
