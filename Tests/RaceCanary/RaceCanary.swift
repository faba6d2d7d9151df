import Glibc

// A data race, which the thread sanitizer must find: `tools/test --tsan` fails when it does not.
nonisolated(unsafe) private var counter = 0

@main
enum RaceCanary {
    static func main() {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                counter += 1
                return nil
            }, nil)
        counter += 1
        pthread_join(thread, nil)
    }
}
