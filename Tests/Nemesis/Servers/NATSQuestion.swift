import Foundation
import StrataModel

/// A question to JetStream over a connection of its own, which no fault touches.
struct NATSQuestion {
    private static let seconds = 3

    /// Returns the answer of the server at a port; nil if there is none.
    static func ask(_ subject: String, port: Int) -> [String: Any]? {
        guard let socket = LocalSocket.connect(to: port) else { return nil }
        defer { close(socket) }
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
        let words = "CONNECT {\"verbose\":false}\r\nSUB nemesis.answer 1\r\nPUB \(subject) nemesis.answer 0\r\n\r\n"
        let request = Array(words.utf8)
        guard write(socket, request, request.count) == request.count else { return nil }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(socket, &piece, piece.count)
            guard count > 0 else { return nil }
            text += piece[..<count]
            if let answer = message(in: String(decoding: text, as: UTF8.self)) {
                return try? JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any]
            }
        }
    }

    /// Returns the content of the first message.
    private static func message(in text: String) -> Substring? {
        let lines = text.components(separatedBy: "\r\n")
        guard let start = lines.firstIndex(where: { $0.hasPrefix("MSG ") }), lines.count > start + 2 else { return nil }
        return lines[start + 1][...]
    }
}
