import FuzzBodies
import FuzzDriver

fuzz { _ = FuzzBodies.predicate($0) }
