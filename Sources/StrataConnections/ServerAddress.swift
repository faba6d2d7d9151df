import StrataModel

/// The address of a sequencer on servers: `scheme://[user[:password]@]host[:port][,host[:port]…]/name[?key=value&…]`.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
    package struct Server: Sendable, Hashable {
        package var host: String
        package var port: Int?

        /// True if what is sent cannot leave the machine.
        package var isLoopback: Bool {
            let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            return host == "localhost" || host == "[::1]" || parts.count == 4 && parts[0] == 127 && !parts.contains(nil)
        }
    }

    package var scheme: String
    package var user: String?
    package var password: String?
    package var servers: [Server]
    /// The stream, or the database.
    package var name: String
    package var options: [String: String]

    /// The address without the password.
    package var description: String {
        let hosts = servers.map { server in server.port.map { "\(server.host):\($0)" } ?? server.host }
        let account = user.map { "\(Self.encoded($0, and: ":/"))@" } ?? ""
        let options = options.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.encoded($0.value))" }
        return "\(scheme)://\(account)\(hosts.joined(separator: ","))/\(Self.encoded(name, and: "/"))"
            + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
    }

    /// Returns true if a name has 1 to `length` letters, digits, hyphens and underscores.
    package static func isPlain(_ name: String, atMost length: Int) -> Bool {
        (1...length).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { character in
                ["a"..."z", "A"..."Z", "0"..."9", "-"..."-", "_"..."_"].contains { $0.contains(character) }
            }
    }

    /// Returns a text in which the characters that mean something in an address are percent-encoded.
    package static func encoded(_ text: String, and others: String = "") -> String {
        text.utf8.reduce(into: "") { encoded, byte in
            let isPlain = byte > 32 && byte < 127 && !"%?&=#@,".utf8.contains(byte) && !others.utf8.contains(byte)
            encoded +=
                isPlain
                ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }

    /// Parses an address.
    ///
    /// - Throws: `.invalidArgument` with the part that is wrong.
    package init(parsing text: String) throws {
        func wrong(_ expected: String, _ found: some StringProtocol) -> StrataError {
            StrataError(
                .invalidArgument, "The address of the sequencer is wrong.",
                // A part of an address with a password may be a part of that.
                .init(expected: expected, found: text.contains("@") ? nil : "'\(found)'"))
        }
        guard let colon = text.firstRange(of: "://") else {
            throw wrong("scheme://host/name", text)
        }
        scheme = text[..<colon.lowerBound].lowercased()
        var rest = text[colon.upperBound...]
        options = [:]
        if let question = rest.firstIndex(of: "?") {
            for option in rest[rest.index(after: question)...].split(separator: "&") {
                let parts = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, !parts[0].isEmpty else { throw wrong("key=value after '?'", option) }
                guard options[String(parts[0])] == nil else { throw wrong("each option once", parts[0]) }
                options[String(parts[0])] = try Self.decoded(parts[1]) ?? { throw wrong("%XX", parts[1]) }()
            }
            rest = rest[..<question]
        }
        guard let slash = rest.firstIndex(of: "/") else { throw wrong("'/' and a name after the servers", "nothing") }
        let path = rest[rest.index(after: slash)...]
        guard !path.isEmpty, !path.contains("/") else { throw wrong("one name after the servers", path) }
        name = try Self.decoded(path) ?? { throw wrong("%XX", path) }()
        var authority = rest[..<slash]
        if let at = authority.lastIndex(of: "@") {
            let account = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            user = try Self.decoded(account[0]) ?? { throw wrong("%XX in the user", "a stray '%'") }()
            if account.count == 2 {
                password = try Self.decoded(account[1]) ?? { throw wrong("%XX in the password", "a stray '%'") }()
            }
            authority = authority[authority.index(after: at)...]
        }
        servers = try authority.split(separator: ",", omittingEmptySubsequences: false).map { server in
            guard let parsed = Server(server) else { throw wrong("host or host:port", server) }
            return parsed
        }
    }

    /// Returns the text without its percent encoding; nil if that is wrong.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension ServerAddress.Server {
    /// Parses `host`, `host:port` or `[IPv6]:port`.
    fileprivate init?(_ text: Substring) {
        var (host, port) = (text, Substring?.none)
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[...end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.first == ":" else { return nil }
                port = rest.dropFirst()
            }
        } else if let colon = text.firstIndex(of: ":") {
            (host, port) = (text[..<colon], text[text.index(after: colon)...])
        }
        guard !host.isEmpty, host.first == "[" || !host.contains(":") else { return nil }
        self.host = String(host)
        if let port {
            guard let number = Int(port), (1...65_535).contains(number) else { return nil }
            self.port = number
        }
    }
}
