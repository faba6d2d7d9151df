import FuzzBodies
import FuzzDriver

fuzz(FuzzBodies.event)
