import Foundation
import TestNeeds
import TestSupport
import Testing

/// README's picture of a session shows what the commands print: docs/images/session.svg, made by tools/pictures.
@Suite(.needs(.python3)) struct SessionPictureTests {
    private static let picture = "docs/images/session.svg"

    private func drawn(by script: String) throws -> String {
        let directory = try TestDirectory()
        let tools = try ToolProcess.toolPath.dropLast("/strata".count)
        let python: String = try #require(Programs.path("python3"))
        let result = try ToolProcess.run(
            ["-c", "PATH=\(tools):$PATH; exec '\(python)' - '\(directory.path)' <<'END'\n\(script)\nEND"],
            in: directory.path, program: "/bin/sh")
        #expect(result.code == 0, "\(result.errors)")
        return result.output
    }

    @Test("The picture is the one that the commands make today")
    func picture() throws {
        let made = try drawn(by: ShownLine.text(of: "docs/images/session.py"))
        #expect(made == (try ShownLine.text(of: Self.picture)), "tools/pictures --session makes it again")
        #expect(try ShownLine.text(of: "README.md").contains("(\(Self.picture))"))
    }

    @Test("Canary: another command makes another picture")
    func canary() throws {
        let script = try ShownLine.text(of: "docs/images/session.py")
        let other = script.replacingOccurrences(of: "explain Theater.strata 12", with: "explain Theater.strata 11")
        #expect(try drawn(by: other) != ShownLine.text(of: Self.picture))
    }
}
