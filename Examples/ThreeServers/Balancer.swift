import Foundation

/// Starts the servers, sends them requests, and starts again those that end.
actor Balancer {
    private let arguments: [String]
    /// All servers, also those that are starting.
    private var all: [Int: Process] = [:]
    /// The servers that take requests.
    private var ready: [Int: (process: Process, input: FileHandle)] = [:]
    private var waiting: [String: (server: Int, answer: CheckedContinuation<Bool, Never>)] = [:]
    private var isStopping = false
    /// The number of requests that were sent again, because their server ended.
    private(set) var repeats = 0

    /// - Parameter arguments: the arguments of a server, before its number.
    init(serverArguments arguments: [String]) { self.arguments = arguments }

    func start(_ server: Int) throws {
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = arguments + ["\(server)"]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        all[server] = process
        let lines = Self.lines(of: output.fileHandleForReading)
        Task {
            for await line in lines {
                let words = line.split(separator: " ").map(String.init)
                if words == ["ready"] { ready[server] = (process, input.fileHandleForWriting) }
                if words.count == 2 { answer(words[0], isDone: true) }
            }
            try remove(server)
        }
    }

    private static func lines(of file: FileHandle) -> AsyncStream<String> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                var rest = Data()
                while case let data = file.availableData, !data.isEmpty {
                    rest += data
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest.removeSubrange(...end)
                    }
                }
                continuation.finish()
            }
        }
    }

    private func answer(_ ticket: String, isDone: Bool) {
        waiting.removeValue(forKey: ticket)?.answer.resume(returning: isDone)
    }

    /// Lets what a server did not answer be asked elsewhere, and starts it again.
    private func remove(_ server: Int) throws {
        ready[server] = nil
        for (ticket, request) in waiting where request.server == server { answer(ticket, isDone: false) }
        if !isStopping { try start(server) }
    }

    /// Counts once for a user, at whichever server is there.
    func count(for user: String) async throws {
        let ticket = UUID().uuidString
        while true {
            guard let server = ready.keys.randomElement(), let input = ready[server]?.input else {
                try await Task.sleep(for: .milliseconds(10))
                continue
            }
            let isDone = await withCheckedContinuation { answer in
                waiting[ticket] = (server, answer)
                do { try input.write(contentsOf: Data("\(ticket) \(user)\n".utf8)) } catch {
                    // It has ended, and nobody else is to ask it.
                    ready[server] = nil
                    self.answer(ticket, isDone: false)
                }
            }
            if isDone { return }
            repeats += 1
        }
    }

    /// Kills a server that runs, without warning; returns its number.
    func killOne() -> Int? {
        guard let (server, running) = ready.randomElement() else { return nil }
        kill(running.process.processIdentifier, SIGKILL)
        return server
    }

    func stop() {
        isStopping = true
        for (server, process) in all {
            // One that is starting would wait for requests.
            if let input = ready[server]?.input { try? input.close() } else { process.terminate() }
            process.waitUntilExit()
        }
    }
}
