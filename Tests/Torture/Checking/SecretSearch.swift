import Foundation
import TestSupport

/// Looks for what must not be in any file of a store: texts of erased records, and what was encrypted.
struct SecretSearch {
    private static let maximumSecrets = 40

    private var files: [(path: String, bytes: [UInt8])] = []

    init(in store: String) throws {
        let base = URL(fileURLWithPath: store)
        for case let url as URL in FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil) ?? .init()
        {
            guard let data = try? Data(contentsOf: url) else { continue }
            files.append((url.path, Array(data)))
        }
    }

    func run(_ plans: [WriterPlan]) {
        for plan in plans {
            for secret in plan.secrets.suffix(Self.maximumSecrets) {
                // The middle: what texts have in common may stand for itself in compressed bytes.
                let wanted = Array(secret.text.utf8.dropFirst(8).prefix(24))
                for file in files where isFound(wanted, in: file.bytes) {
                    Telling.wrong("\(plan.user): the secret \(secret.origin) is in \(file.path)")
                }
            }
        }
    }
}
